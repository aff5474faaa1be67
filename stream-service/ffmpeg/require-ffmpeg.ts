import { InMaintenance } from '../../core/errors/index.ts';
import type { Ffmpeg } from '../../layers/tools/index.ts';

/** @throws InMaintenance while FFmpeg is not installed, with the activity in progress */
export type RequireFfmpeg = () => Promise<Ffmpeg>;

export interface RequireFfmpegDependencies {
  /** Absent until the first install is done. */
  readonly ffmpeg: () => Ffmpeg | undefined;
  /** The activity in progress, if any. */
  readonly maintenance: () => Promise<string | undefined>;
}

const DEFAULT_ACTIVITY = 'Downloading FFmpeg';

export function createRequireFfmpeg({ ffmpeg, maintenance }: RequireFfmpegDependencies): RequireFfmpeg {
  return async () => {
    const build = ffmpeg();
    if (build) return build;
    // FFmpeg is missing whether or not the table can say why.
    const activity = await maintenance().catch(() => undefined);
    throw new InMaintenance(activity ?? DEFAULT_ACTIVITY);
  };
}
