/** A short video with sound, small enough for the limits of the tests. */
import type { Sample } from './videosamples.fixture.ts';

export const clip: Sample = {
  name: 'small',
  extension: 'mp4',
  inputs: ['testsrc2=size=160x90:rate=10:duration=1,format=yuv420p', 'sine=duration=1'],
  options: ['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'],
  width: 160,
  height: 90,
  seconds: 1,
  hasSound: true,
};
