import type { Admission, Release } from '../../../stream-service/sessions/index.ts';

/** How many places for FFmpeg processes are taken: those that are not free for other clients. */
export function heldFfmpegs({ tryAcquireFfmpeg }: Pick<Admission, 'tryAcquireFfmpeg'>, maxFfmpeg: number): number {
  const free: Release[] = [];
  const take = () => tryAcquireFfmpeg(`other ${free.length}`);
  for (let release = take(); release; release = take()) free.push(release);
  for (const release of free) release();
  return maxFfmpeg - free.length;
}
