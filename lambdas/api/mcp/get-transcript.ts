import type { Cue } from '@reelay/seekable-media/subtitles';
import type { Resolver } from '../../../core/resolve/index.ts';
import { chooseSubtitle, type Resource, type Subtitle } from '../../../core/state/index.ts';
import { singleResource } from '../resolve-request.ts';
import { LINK_INPUT, type Tool } from './tool.ts';

export interface GetTranscriptOptions {
  readonly resolver: Pick<Resolver, 'readSubtitle'>;
}

/** From the arrival of the request: behind the time that a resolve may take, before API Gateway ends the request at 30 s. */
const TIMEOUT_MS = 28_000;
/** Ten hours of speech have as many, in Latin letters. */
const MAX_BYTES = 1_000_000;

export const createGetTranscript = ({ resolver }: GetTranscriptOptions): Tool => ({
  name: 'get_transcript',
  title: 'Get transcript',
  description:
    'Returns what is said in a video: the text of its subtitles, one line for each with the time at which it is shown.',
  input: {
    type: 'object',
    properties: {
      url: LINK_INPUT,
      language: {
        type: 'string',
        description: 'BCP 47, such as en or pt-BR. Without it, the language that is spoken where that is known',
      },
    },
    required: ['url'],
  },
  async run({ url = '', language }, { event, context, resolve }) {
    const { resolved, client } = await resolve(url);
    const resource = singleResource(resolved);
    const subtitle = chooseSubtitle(resource, language?.trim());
    const leftMs = Math.max(1, event.requestContext.timeEpoch + TIMEOUT_MS - Date.now());
    const signal = AbortSignal.any([AbortSignal.timeout(leftMs), ...(context.signal ? [context.signal] : [])]);
    const cues = await resolver.readSubtitle(resource, subtitle, signal, client);
    return `${headOf(resource, subtitle)}\n\n${writeTranscript(cues)}`;
  },
});

const headOf = ({ title }: Resource, { language, isAutomatic }: Subtitle): string =>
  `${title ?? 'Untitled'} (${language}${isAutomatic ? ', by speech recognition' : ''})`;

/** One line for each text, with the time at which it is shown. Automatic captions repeat the line before in each cue. */
export function writeTranscript(cues: readonly Cue[]): string {
  const lines: string[] = [];
  let last: string | undefined;
  let bytes = 0;
  for (const { startMs, text } of cues) {
    const fresh = text.split('\n').filter((line) => line !== last);
    last = text.split('\n').at(-1);
    if (fresh.length === 0) continue;
    const line = `[${clock(startMs)}] ${fresh.join(' ')}`;
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MAX_BYTES) return [...lines, '(The rest is left out: the transcript is too long.)'].join('\n');
    lines.push(line);
  }
  return lines.join('\n');
}

/** Hours, minutes and seconds: `01:02:03`. */
const clock = (ms: number): string =>
  [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60]
    .map((each) => String(Math.floor(each)).padStart(2, '0'))
    .join(':');
