import { type ListedStream, rateOf } from './playlists.ts';

/** Units per second of the times in a manifest. */
const TIMESCALE = 90_000;

/**
 * The static manifest (ISO/IEC 23009-1) of the same streams as a master playlist: one set of all video, and one for each audio.
 */
export function writeDashManifest(streams: readonly ListedStream[]): string {
  const shown = streams.filter(({ kind }) => kind !== 'audio');
  const heard = streams.filter(({ kind, segments }) => kind === 'audio' && segments.length > 0);
  const sets = [...(shown.length > 0 ? [shown] : []), ...heard.map((each) => [each])];
  const ends = streams.map(({ startSeconds, segments }) =>
    segments.reduce((end, { durationSeconds }) => end + durationSeconds, startSeconds),
  );
  const seconds = Math.max(0, ...ends);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" profiles="urn:mpeg:dash:profile:isoff-main:2011" minBufferTime="PT4S" mediaPresentationDuration="PT${seconds.toFixed(3)}S">`,
    '<Period start="PT0S">',
    ...sets.map((set, index) => adaptationSet(set, index)),
    '</Period>',
    '</MPD>\n',
  ].join('\n');
}

function adaptationSet(streams: readonly ListedStream[], id: number): string {
  const [{ kind, sound } = { kind: 'video', sound: undefined }] = streams as [ListedStream?];
  const type = kind === 'audio' ? 'audio' : 'video';
  const language = sound?.language ? ` lang="${escaped(sound.language)}"` : '';
  const representations = streams.map((stream, index) => representation(stream, `${id}-${index}`));
  return `<AdaptationSet id="${id}" contentType="${type}" mimeType="${type}/mp4"${language} segmentAlignment="false" startWithSAP="1">
${sound ? `<Label>${escaped(sound.name)}</Label>\n` : ''}${representations.join('\n')}
</AdaptationSet>`;
}

function representation(stream: ListedStream, id: string): string {
  const { codecs, resolution, framesPerSecond, init, startSeconds, segments, file } = stream;
  const range = (offset: number, bytes: number) => `${offset}-${offset + bytes - 1}`;
  const size = resolution ? ` width="${resolution.width}" height="${resolution.height}"` : '';
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
<SegmentList timescale="${TIMESCALE}"><Initialization range="${range(init.offset, init.bytes)}"/>
<SegmentTimeline>${times.join('')}</SegmentTimeline>
${segments.map(({ offset, bytes }) => `<SegmentURL mediaRange="${range(offset, bytes)}"/>`).join('')}</SegmentList>
</Representation>`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
