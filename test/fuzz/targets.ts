import { extraction } from './targets/extraction.ts';
import { frames } from './targets/frames.ts';
import { manifests } from './targets/manifests.ts';
import { mp4 } from './targets/mp4.ts';
import { output } from './targets/output.ts';
import { requests } from './targets/requests.ts';
import type { FuzzTargets } from './targets/target.ts';
import { textTracks } from './targets/text-tracks.ts';
import { upstream } from './targets/upstream.ts';
import { urls } from './targets/urls.ts';

/** Every parser of text or bytes that a client or a source chooses. */
export const targets: FuzzTargets = {
  ...manifests,
  ...mp4,
  ...frames,
  ...textTracks,
  ...extraction,
  ...upstream,
  ...urls,
  ...requests,
  ...output,
};
