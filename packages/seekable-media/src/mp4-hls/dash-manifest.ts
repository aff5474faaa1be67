import type { SoundName } from '../virtual-mp4/index.ts';
import { type ListedStream, type ListedText, rateOf, TEXT_ROLE } from './playlists.ts';

/** Units per second of the times in a manifest. */
const TIMESCALE = 90_000;

/** Subtitles that are early by less are not noticed. */
const MAX_TEXT_DELAY_SECONDS = 0.5;

/**
 * The static manifest (ISO/IEC 23009-1) of the same streams as a master playlist: one set of all video, and one for each audio and each of
 * the subtitles. These are left out where the first stream does not begin with the presentation.
 */
export function writeDashManifest(streams: readonly ListedStream[], texts: readonly ListedText[] = []): string {
  const shown = streams.filter(({ kind }) => kind !== 'audio');
  const heard = streams.filter(({ kind, segments }) => kind === 'audio' && segments.length > 0);
  const sets = [...(shown.length > 0 ? [shown] : []), ...heard.map((each) => [each])];
  const ends = streams.map(({ startSeconds, segments }) =>
    segments.reduce((end, { durationSeconds }) => end + durationSeconds, startSeconds),
  );
  // Lists keep their clock, which may begin anywhere.
  const starts = streams.flatMap(({ startSeconds, segments }) => (segments.length > 0 ? [startSeconds] : []));
  const offset = Math.max(0, starts.length > 0 ? Math.min(...starts) : 0);
  const seconds = Math.max(0, ...ends) - offset;
  // Their times count from the first stream; a manifest cannot move them.
  const hasTexts = (streams[0]?.startSeconds ?? 0) - offset < MAX_TEXT_DELAY_SECONDS;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" profiles="urn:mpeg:dash:profile:isoff-main:2011" minBufferTime="PT4S" mediaPresentationDuration="PT${seconds.toFixed(3)}S">`,
    '<Period start="PT0S">',
    ...sets.map((set, index) => adaptationSet(set, index, offset)),
    ...(hasTexts ? texts : []).map((text, index) => textSet(text, sets.length + index)),
    '</Period>',
    '</MPD>\n',
  ].join('\n');
}

/** @param offset seconds on the clock of the files at which the presentation begins */
function adaptationSet(streams: readonly ListedStream[], id: number, offset: number): string {
  const [{ kind, sound } = { kind: 'video', sound: undefined }] = streams as [ListedStream?];
  const type = kind === 'audio' ? 'audio' : 'video';
  const representations = streams.map((stream, index) => representation(stream, `${id}-${index}`, offset));
  return `<AdaptationSet id="${id}" contentType="${type}" mimeType="${type}/mp4"${languageOf(sound)} segmentAlignment="false" startWithSAP="1">
${sound ? `<Label>${escaped(sound.name)}</Label>\n` : ''}${representations.join('\n')}
</AdaptationSet>`;
}

/** A file that is loaded as a whole, of which no rate is known: the smallest that is one. */
const textSet = (text: ListedText, id: number): string =>
  `<AdaptationSet id="${id}" contentType="text" mimeType="text/vtt"${languageOf(text)}>
<Label>${escaped(text.name)}</Label>
<Role schemeIdUri="urn:mpeg:dash:role:2011" value="${TEXT_ROLE}"/>
<Representation id="${id}-0" bandwidth="1"><BaseURL>${escaped(text.file)}</BaseURL></Representation>
</AdaptationSet>`;

const languageOf = (named: SoundName | undefined): string =>
  named?.language ? ` lang="${escaped(named.language)}"` : '';

function representation(stream: ListedStream, id: string, offset: number): string {
  const { codecs, resolution, framesPerSecond, initBytes, startSeconds, segments, file } = stream;
  const range = (offset: number, bytes: number) => `${offset}-${offset + bytes - 1}`;
  const size = resolution ? ` width="${resolution.width}" height="${resolution.height}"` : '';
  const begins = Math.round(offset * TIMESCALE);
  const offsetText = begins > 0 ? ` presentationTimeOffset="${begins}"` : '';
  const rate = framesPerSecond ? ` frameRate="${Math.round(framesPerSecond * 1000)}/1000"` : '';
  let seconds = startSeconds;
  let end = Math.round(seconds * TIMESCALE);
  const times = segments.map(({ durationSeconds }) => {
    seconds += durationSeconds;
    const start = end;
    // Rounded as a whole: the times of many segments must not drift.
    end = Math.round(seconds * TIMESCALE);
    return `<S t="${start}" d="${end - start}"/>`;
  });
  return `<Representation id="${id}" bandwidth="${rateOf(stream).peak}" codecs="${codecs.join(',')}"${size}${rate}>
<BaseURL>${escaped(file)}</BaseURL>
<SegmentList timescale="${TIMESCALE}"${offsetText}><Initialization range="${range(0, initBytes)}"/>
<SegmentTimeline>${times.join('')}</SegmentTimeline>
${segments.map(({ offset, bytes }) => `<SegmentURL mediaRange="${range(offset, bytes)}"/>`).join('')}</SegmentList>
</Representation>`;
}

/** Controls are no characters of XML. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\ufffe\uffff]+/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;');
