import { CONVERT_SUBTITLES, parse } from '../../../core/parsing/index.ts';
import { openTrack } from '../../source/index.ts';
import { inMemory } from '../in-memory.ts';
import type { Opening, Representation } from '../representation.ts';
import type { TextPlan } from './plan.ts';
import { readSubtitleFile } from './read-subtitle-file.ts';

/** @throws UpstreamError when it is not a subtitle file, and what `OpenSource` throws */
export async function openText(
  { found, format, head }: TextPlan,
  { session, openSource }: Opening,
): Promise<Representation> {
  const source = await openTrack(openSource, found, found.track, session);
  const text = await readSubtitleFile(source, (bytes) => parse(CONVERT_SUBTITLES, { bytes, format }, session));
  return inMemory(head, Buffer.from(text));
}
