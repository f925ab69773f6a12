from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("delivery", "0002_keep_a_pace"),
    ]

    operations = [
        migrations.AddField(
            model_name="rawanswer",
            name="read_at",
            field=models.DateTimeField(null=True),
        ),
    ]
