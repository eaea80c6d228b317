"""Who may do what: staff, roles, acting appointments, the gate, access denials and access records."""
