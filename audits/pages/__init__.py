"""What the pages of the audits share: form fields, paged lists, read-only records."""
