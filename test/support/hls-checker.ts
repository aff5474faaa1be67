/** A playlist as RFC 8216 reads it. */
interface ParsedPlaylist {
  readonly isMaster: boolean;
  readonly version: number;
  readonly isIndependent: boolean;
  readonly variants: readonly (Attributes & { readonly uri: string })[];
  readonly media: readonly Attributes[];
  readonly map?: { readonly uri: string; readonly range: Range };
  readonly segments: readonly { readonly uri: string; readonly range: Range; readonly seconds: number }[];
  readonly targetSeconds: number;
}

/** First byte and number of bytes. */
export interface Range {
  readonly first: number;
  readonly bytes: number;
}

type Attributes = Readonly<Record<string, string>>;

const QUOTED = /^"[^"]+"$/;
const YES_OR_NO = /^(YES|NO)$/;
/** What attributes have to match; those that a tag must have, and others. */
const ATTRIBUTES = {
  '#EXT-X-MEDIA': {
    section: '4.3.4.1',
    required: { TYPE: /^(AUDIO|VIDEO|SUBTITLES|CLOSED-CAPTIONS)$/, 'GROUP-ID': QUOTED, NAME: QUOTED },
    optional: { DEFAULT: YES_OR_NO, AUTOSELECT: YES_OR_NO, FORCED: YES_OR_NO, CHANNELS: /^"\d+(\/.*)?"$/ },
  },
  '#EXT-X-STREAM-INF': {
    section: '4.3.4.2',
    required: { BANDWIDTH: /^[1-9]\d*$/, CODECS: QUOTED },
    optional: { 'AVERAGE-BANDWIDTH': /^\d+$/, RESOLUTION: /^\d+x\d+$/, 'FRAME-RATE': /^\d+\.\d{1,3}$/ },
  },
} as const;

const ATTRIBUTE = /([A-Z0-9-]+)=("[^"\n\r]*"|[^",\s]+)(?:,|$)/gy;
const SEGMENT_TAGS = /^#EXT(?:INF|-X-BYTERANGE|-X-MAP|-X-ENDLIST|-X-TARGETDURATION|-X-MEDIA-SEQUENCE|-X-PLAYLIST-TYPE)/;
const MASTER_TAGS = /^#EXT-X-(?:STREAM-INF|MEDIA):/;

/**
 * Parses a playlist, and checks what RFC 8216 demands of every tag in it.
 * @throws Error with the section that it breaks
 */
export function checkPlaylist(text: string): ParsedPlaylist {
  const must = (condition: unknown, rule: string) => {
    if (!condition) throw new Error(`RFC 8216 ${rule}`);
  };
  // §4.1
  must(!text.startsWith('\uFEFF') && text.normalize('NFC') === text, '4.1: UTF-8, NFC, no byte order mark');
  must(!/[\p{Cc}]/u.test(text.replace(/[\r\n]/g, '')), '4.1: no control characters');
  must(text.endsWith('\n'), '4.1: lines end');
  const lines = text.split(/\r?\n/).filter((line) => line !== '');
  must(lines[0] === '#EXTM3U', '4.3.1.1: EXTM3U first');
  must(
    lines.every((line) => !/^\s|\s$/.test(line)),
    '4.1: no surrounding white space',
  );
  const isMaster = lines.some((line) => MASTER_TAGS.test(line));
  must(!(isMaster && lines.some((line) => SEGMENT_TAGS.test(line))), '4.1: tags of one kind of playlist');
  const valuesOf = (tag: string) =>
    lines.filter((line) => line.startsWith(`${tag}:`)).map((line) => line.slice(tag.length + 1));
  const once = (tag: string) => {
    const all = valuesOf(tag);
    must(all.length <= 1, `4: ${tag} at most once`);
    return all[0];
  };
  const attributes = (value: string): Attributes => {
    const all = [...value.matchAll(ATTRIBUTE)];
    must(all.map(([part]) => part).join('') === value && value !== '', `4.2: attribute list ${value}`);
    const names = all.map(([, name = '']) => name);
    must(new Set(names).size === names.length, '4.2: attribute names are unique');
    return Object.fromEntries(all.map(([, name = '', text = '']) => [name, text]));
  };
  const attributesOf = (tag: keyof typeof ATTRIBUTES, value: string): Attributes => {
    const found = attributes(value);
    const { section, required, optional } = ATTRIBUTES[tag];
    for (const [name, pattern] of Object.entries({ ...required, ...optional }))
      if (found[name] !== undefined || name in required) must(pattern.test(found[name] ?? ''), `${section}: ${name}`);
    return found;
  };
  const unquoted = (value: string | undefined, rule: string) => {
    must(QUOTED.test(value ?? ''), rule);
    return (value ?? '').slice(1, -1);
  };
  const range = (value: string): Range => {
    const [, bytes, first] = /^(\d+)@(\d+)$/.exec(value) ?? [];
    must(bytes !== undefined && first !== undefined, `4.3.2.2: byte range ${value}`);
    return { first: Number(first), bytes: Number(bytes) };
  };
  const version = Number(once('#EXT-X-VERSION') ?? 1);
  must(Number.isInteger(version) && version >= 1, '4.3.1.2: version');

  const media = valuesOf('#EXT-X-MEDIA').map((value) => attributesOf('#EXT-X-MEDIA', value));
  for (const { DEFAULT, AUTOSELECT } of media)
    must(DEFAULT !== 'YES' || AUTOSELECT !== 'NO', '4.3.4.1: AUTOSELECT of a default');
  const identities = media.map((each) => [each.TYPE, each['GROUP-ID'], each.NAME].join());
  must(new Set(identities).size === identities.length, '4.3.4.1.1: names are unique in a group');

  const variants: (Attributes & { uri: string })[] = [];
  const segments: { uri: string; range: Range; seconds: number }[] = [];
  let open: { seconds?: number; range?: Range; variant?: Attributes } = {};
  let hasMap = false;
  for (const line of lines.slice(1)) {
    const [, tag = '', value = ''] = /^(#EXT[A-Z0-9-]*):?(.*)$/.exec(line) ?? [];
    if (tag === '#EXTINF') {
      must(version >= 3 ? /^\d+(\.\d+)?,/.test(value) : /^\d+,/.test(value), '4.3.2.1: duration');
      open.seconds = Number.parseFloat(value);
    } else if (tag === '#EXT-X-BYTERANGE') {
      must(version >= 4, '7: byte ranges need version 4');
      open.range = range(value);
    } else if (tag === '#EXT-X-MAP') {
      must(segments.length === 0 && version >= 6, '4.3.2.5 and 7: EXT-X-MAP before its segments, version 6');
      hasMap = true;
    } else if (tag === '#EXT-X-STREAM-INF') {
      open.variant = attributesOf(tag, value);
    } else if (tag === '#EXT-X-ENDLIST') {
      must(line === lines.at(-1), '4.3.3.4: nothing after the end');
    } else if (!line.startsWith('#')) {
      if (open.variant) variants.push({ ...open.variant, uri: line });
      else {
        must(open.seconds !== undefined, '4.3.2.1: EXTINF for each segment');
        must(open.range !== undefined, 'a byte range for each segment');
        segments.push({ uri: line, range: open.range ?? { first: 0, bytes: 0 }, seconds: open.seconds ?? 0 });
      }
      open = {};
    }
  }
  for (const { AUDIO, BANDWIDTH, 'AVERAGE-BANDWIDTH': average = BANDWIDTH } of variants) {
    must(Number(average) <= Number(BANDWIDTH), '4.3.4.2: average');
    const isKnown = media.some((each) => each.TYPE === 'AUDIO' && each['GROUP-ID'] === AUDIO);
    must(AUDIO === undefined || isKnown, '4.3.4.2: AUDIO names a group');
  }
  const targetSeconds = Number(once('#EXT-X-TARGETDURATION') ?? Number.NaN);
  const mapValue = once('#EXT-X-MAP');
  const map = mapValue === undefined ? undefined : attributes(mapValue);
  if (isMaster) must(variants.length > 0, '4.3.4: a variant stream');
  else {
    must(Number.isInteger(targetSeconds), '4.3.3.1: EXT-X-TARGETDURATION is required');
    must(
      segments.every(({ seconds }) => Math.round(seconds) <= targetSeconds),
      '4.3.3.1: no longer segment',
    );
    must(hasMap && map, '3.3: fragmented MP4 needs EXT-X-MAP');
    must(segments.length > 0, 'segments');
    must(/^\d+$/.test(once('#EXT-X-MEDIA-SEQUENCE') ?? '0'), '4.3.3.2: media sequence');
    must(/^(VOD|EVENT)$/.test(once('#EXT-X-PLAYLIST-TYPE') ?? 'VOD'), '4.3.3.5: playlist type');
    must(lines.includes('#EXT-X-ENDLIST'), '4.3.3.4: EXT-X-ENDLIST of a VOD playlist');
    // §4.3.2.2: sub-ranges that follow each other.
    for (const [index, { range: next }] of segments.entries()) {
      const before = segments[index - 1]?.range;
      must(!before || before.first + before.bytes === next.first, '4.3.2.2: ranges follow each other here');
    }
  }
  return {
    isMaster,
    version,
    isIndependent: lines.includes('#EXT-X-INDEPENDENT-SEGMENTS'),
    variants,
    media,
    map: map && { uri: unquoted(map.URI, '4.3.2.5: URI'), range: range(unquoted(map.BYTERANGE, '4.3.2.5: BYTERANGE')) },
    segments,
    targetSeconds,
  };
}
