import { beforeAll } from 'vitest';
import { audioTrack, combinedKey, resourceOf, startService, videoTrack } from '../../fixture.ts';
import { type PairMedia, usePairMedia } from './pair-fixture.ts';

/** Each five minutes long: both fragmented, both progressive, one of each. */
export const PAIRS_TO_PLAY = [
  ['indexed.mp4', 'indexed.m4a'],
  ['long-video.mp4', 'long-audio.m4a'],
  ['long-video.mp4', 'indexed.m4a'],
] as const;

/**
 * The service with one pair at a time, for players that need a URL.
 * @param isNeeded false: no test of the file runs here
 */
export function usePairService(isNeeded: boolean) {
  let media: PairMedia | undefined;
  beforeAll(async () => {
    if (isNeeded) media = await usePairMedia();
  });

  return {
    /** Serves a pair. Returns the URL of its file with ranges. */
    async start(video: string, audio: string): Promise<string> {
      if (!media) throw new Error('The media is made before the tests run');
      const sources = { video: await media.load(video), audio: await media.load(audio) };
      const service = await startService(resourceOf([videoTrack(), audioTrack()], { durationSeconds: 300 }), sources);
      return `${service.url}/api/Stream/Media/${combinedKey()}`;
    },
  };
}
