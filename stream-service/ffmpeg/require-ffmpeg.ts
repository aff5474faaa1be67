import { problems } from '../../core/api/index.ts';
import type { Ffmpeg } from '../../layers/tools/index.ts';

/** @throws Problem 503 while FFmpeg is not there yet, titled with what the instance is doing about it */
export type RequireFfmpeg = () => Promise<Ffmpeg>;

export interface RequireFfmpegDependencies {
  /** Absent until the first install is done. */
  readonly ffmpeg: () => Ffmpeg | undefined;
  /** The activity in progress, if any. */
  readonly maintenance: () => Promise<string | undefined>;
}

const WITHOUT_ACTIVITY = 'Downloading FFmpeg';

export function createRequireFfmpeg({ ffmpeg, maintenance }: RequireFfmpegDependencies): RequireFfmpeg {
  return async () => {
    const build = ffmpeg();
    if (build) return build;
    // Whether or not the table answers, the reason is the same.
    const activity = await maintenance().catch(() => undefined);
    throw problems.maintenance(activity ?? WITHOUT_ACTIVITY);
  };
}
