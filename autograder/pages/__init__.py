"""What people read: feedback pages, class reports, and marks for other programs."""
