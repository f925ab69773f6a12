"""Give the approvals from before there were rule sets their one step, their amount and their currency."""

from decimal import Decimal, InvalidOperation

from django.db import migrations


def draw(apps, schema_editor):
    Approval = apps.get_model("approvals", "Approval")
    Step = apps.get_model("approvals", "Step")
    for approval in Approval.objects.filter(rule_set=None).iterator():
        try:
            amount = Decimal(approval.facts["amount"])
        except (InvalidOperation, KeyError, TypeError):
            amount = None
        Approval.objects.filter(pk=approval.pk).update(
            amount=amount,
            currency=str(approval.facts.get("currency", ""))[:12],
            step_since=approval.created_at,
        )
        if approval.needed and not Step.objects.filter(approval=approval).exists():
            Step.objects.create(
                approval=approval,
                number=1,
                people=approval.needed,
                role="finance checker",
                permission=approval.permission,
            )


class Migration(migrations.Migration):
    dependencies = [("approvals", "0002_rule_sets_steps_and_limits")]
    operations = [migrations.RunPython(draw, migrations.RunPython.noop)]
