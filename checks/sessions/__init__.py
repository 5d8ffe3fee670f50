"""What is known of one session on all arms: read and paired once. May import lower rooms."""
