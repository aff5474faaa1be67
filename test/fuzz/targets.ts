import texts from './corpus/texts.json' with { type: 'json' };
import { extraction } from './targets/extraction.ts';
import { frames } from './targets/frames.ts';
import { manifests } from './targets/manifests.ts';
import { mp4 } from './targets/mp4.ts';
import { output } from './targets/output.ts';
import { requests } from './targets/requests.ts';
import type { FuzzTarget } from './targets/target.ts';
import { textTracks } from './targets/text-tracks.ts';
import { upstream } from './targets/upstream.ts';
import { urls } from './targets/urls.ts';

const textsOf: Readonly<Record<string, readonly string[]>> = texts;

/** Every parser of text or bytes that a client or a source chooses. */
export const targets: Readonly<Record<string, FuzzTarget>> = Object.fromEntries(
  Object.entries({
    ...manifests,
    ...mp4,
    ...frames,
    ...textTracks,
    ...extraction,
    ...upstream,
    ...urls,
    ...requests,
    ...output,
  }).map(([name, target]) => {
    const seeds = [...(target.seeds ?? []), ...(textsOf[name] ?? [])];
    if (seeds.length === 0) throw new Error(`${name} has no seeds`);
    return [name, { ...target, seeds }];
  }),
);
