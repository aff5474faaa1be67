import { InvalidSubtitles, MAX_SUBTITLE_BYTES } from '@reelay/seekable-media/subtitles';
import { readWhole, type Source } from '@reelay/source';
import { ParsingLimitExceeded, UpstreamError } from '../../../core/errors/index.ts';
import { CONVERT_SUBTITLES, parse } from '../../../core/parsing/index.ts';
import { openTrack } from '../../source/index.ts';
import { inMemory, type Opening, type Representation } from '../representation.ts';
import type { TextPlan } from './plan.ts';

/** @throws UpstreamError when it is not a subtitle file */
export async function openText(
  { found, format, head }: TextPlan,
  { session, openSource }: Opening,
): Promise<Representation> {
  const source = await openTrack(openSource, found, found.track, session, { maxBytes: MAX_SUBTITLE_BYTES });
  const text = await readSubtitleFile(source, (bytes) => parse(CONVERT_SUBTITLES, { bytes, format }, session));
  return inMemory(head, Buffer.from(text));
}

/**
 * Reads a subtitle file whole: it is small, and only a whole file can be validated.
 * @param parse the bytes, by a task of `core/parsing`
 * @throws UpstreamError when it is too large or not a subtitle file
 */
export async function readSubtitleFile<Output>(
  source: Source,
  parse: (bytes: Buffer) => Promise<Output>,
): Promise<Output> {
  const bytes = await readWhole(source, { maxBytes: MAX_SUBTITLE_BYTES, name: 'The subtitle file' });
  return parse(bytes).catch((error) => {
    const isInvalid = error instanceof InvalidSubtitles || error instanceof ParsingLimitExceeded;
    throw isInvalid ? new UpstreamError('The source is not a subtitle file', { cause: error }) : error;
  });
}
