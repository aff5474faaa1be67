import { describe, expect, it } from 'vitest';
import { toProblem } from '../../../core/api/problem.ts';
import { readExtraction } from '../../../core/parsing/extraction.ts';
import { readEntries } from '../../../core/resolve/playlist.ts';
import { selectRenditions } from '../../../core/resolve/renditions/select-renditions.ts';
import { assembleResource } from '../../../core/resolve/save-item.ts';
import { identify } from '../../../core/resolve/yt-dlp/metadata.ts';
import { readTracks } from '../../../core/resolve/yt-dlp/tracks.ts';
import { toResourceInformation } from '../../../lambdas/api/get-resource.ts';

const NOW = 1_790_000_000;
const LINK = 'https://media.example/';

const FORMAT = {
  format_id: 'a',
  url: 'https://cdn.example/a.mp4?expire=1790003600',
  protocol: 'https',
  ext: 'mp4',
  vcodec: 'avc1',
  acodec: 'mp4a',
  height: 720,
  width: 1280,
  fps: 25,
  tbr: 1000,
  vbr: 900,
  abr: 100,
  asr: 44100,
  filesize: 1000,
  filesize_approx: 1000,
  duration: 10,
  language: 'en',
  language_preference: 1,
  has_drm: false,
  format: 'a - 720p',
  resolution: '1280x720',
  http_headers: { Referer: LINK },
  cookies: 'a=1; Domain=cdn.example',
  downloader_options: { http_chunk_size: 1000 },
  fragments: [{ path: 'a' }],
  fragment_base_url: LINK,
};
const INFO = {
  id: '1',
  extractor_key: 'Site',
  title: 'T',
  fulltitle: 'T',
  uploader: 'U',
  creators: ['C'],
  artists: ['A'],
  channel: 'C',
  thumbnail: 'https://i.example/a',
  thumbnails: [{ url: 'https://i.example/a', width: 1, height: 1 }],
  duration: 10,
  is_live: false,
  live_status: 'not_live',
  direct: false,
  language: 'en',
  formats: [FORMAT],
  entries: [{ _type: 'url', url: LINK, title: 'E' }],
  _type: 'video',
};
const ODD: readonly unknown[] = [
  null,
  undefined,
  true,
  0,
  -1,
  1e308,
  2 ** 31 - 0.5,
  Number.NaN,
  '',
  'none',
  '\0\r\n',
  '\ud800',
  'x'.repeat(100_000),
  'https://',
  'https://[::1',
  'http://10.0.0.1/',
  'javascript:alert(1)',
  [],
  {},
  [[]],
  [null],
  { toString: 1 },
];

const resolved = (extracted: Record<string, unknown>) => {
  const { info } = readExtraction({ info: extracted });
  readEntries(info, LINK);
  const origin = { url: LINK, ...identify(info) };
  const resource = assembleResource(info, selectRenditions(readTracks(info, NOW)), {
    origin,
    egress: 'direct',
    now: NOW,
  });
  return toResourceInformation({ type: 'Media', resource }, LINK);
};

describe('toResourceInformation of hostile metadata', () => {
  const cases = [
    ...Object.keys(FORMAT).map((field) => ['format', field] as const),
    ...Object.keys(INFO).map((field) => ['info', field] as const),
  ];

  it.each(cases)('tolerates any value of %s.%s', (where, field) => {
    for (const odd of ODD) {
      const formats = where === 'format' ? [{ ...FORMAT, [field]: odd }, FORMAT] : [FORMAT];
      const info = { ...INFO, formats, ...(where === 'info' && { [field]: odd }) };
      try {
        const { title, mediaItems } = resolved(info);
        expect(title === null || (title.length <= 500 && title.isWellFormed())).toBe(true);
        for (const { height, fileSizeBytes, bitrate } of mediaItems[0]?.video?.renditions ?? []) {
          expect([height, fileSizeBytes].every((figure) => figure === null || Number.isSafeInteger(figure))).toBe(true);
          expect(height ?? 0).toBeLessThan(2 ** 31);
          expect(bitrate === null || Number.isFinite(bitrate)).toBe(true);
        }
      } catch (error) {
        if (toProblem(error).details.status === 500) throw error;
      }
    }
  });
});
