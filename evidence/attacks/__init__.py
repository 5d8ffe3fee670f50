"""Faults planted, cases cut anew, runs killed, bytes flipped: what is caught, lost or changed."""
