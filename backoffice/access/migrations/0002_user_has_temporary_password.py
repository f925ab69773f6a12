from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("access", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="has_temporary_password",
            field=models.BooleanField(default=False),
        ),
    ]
