"""What must survive: schema, migrations, access."""
