"""What browsers and Prometheus read over HTTP."""
