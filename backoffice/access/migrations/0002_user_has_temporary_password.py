from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("access", "0001_initial")]

    operations = [
        migrations.AlterModelOptions(
            name="user",
            options={"ordering": ("username",), "verbose_name": "person", "verbose_name_plural": "people"},
        ),
        migrations.AddField(
            model_name="user",
            name="has_temporary_password",
            field=models.BooleanField(default=False),
        ),
    ]
