"""Sound of a job: files decoded on disk, mixed by `motion.sound`, encoded by `encode/sound_track.py`."""
