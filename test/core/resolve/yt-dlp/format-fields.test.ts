import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readExtraction } from '../../../../core/parsing/extraction.ts';
import { installedTools } from '../../../support/installed-tools.ts';
import { FORMAT_FIELDS, PROTOCOLS, SECTION_FIELDS, SUBTITLE_FIELDS } from './documented-fields.ts';

/** Prints what yt-dlp documents: fields of formats, subtitles and sections in a docstring, protocols in a table. */
const PRINT_DOCUMENTED = String.raw`
import json, re, sys
sys.path.insert(0, sys.argv[1])
from yt_dlp import YoutubeDL
from yt_dlp.downloader import PROTOCOL_MAP
from yt_dlp.extractor.common import InfoExtractor

text = InfoExtractor.__doc__
formats = text[text.index('Potential fields:'):text.index('\n    url: ')]
fields, rtmp = [], re.search(r'additional fields: ([\w,\s]+)', formats)[1]
for indent, name in re.findall(r'^( +)\* "?(\w+)', formats, re.M):
    if len(indent) == 20:
        fields.append(parent := name)
    elif parent != 'impersonate':  # a list of what its value can be
        fields.append(f'{parent}.{name}')
subtitles = text[text.index('\n    subtitles:'):text.index('\n    automatic_captions:')]
print(json.dumps({
    'formats': sorted({*fields, *re.findall(r'\w+', rtmp), *YoutubeDL._format_fields}),
    'subtitles': sorted({'ext', *re.findall(r'\* "(\w+)"', subtitles)}),
    'sections': sorted(re.findall(r'^    (section_\w+):', text, re.M)),
    'protocols': sorted({'http', 'https', *PROTOCOL_MAP}),
}))
`;

async function documented(): Promise<unknown> {
  const { ytDlp } = await installedTools();
  const [python, , main = ''] = ytDlp.command;
  const folder = dirname(dirname(main));
  const { stdout } = await promisify(execFile)(python, ['-I', '-c', PRINT_DOCUMENTED, folder], { env: {} });
  return JSON.parse(stdout);
}

/** A value that the field may have. */
const VALUES: Readonly<Record<string, unknown>> = {
  url: 'https://site.example/manifest',
  fragment_base_url: 'https://site.example/',
  protocol: 'http_dash_segments',
  http_headers: { Referer: 'https://site.example/' },
  hls_aes: { uri: 'https://site.example/key', key: '0'.repeat(32), iv: '1' },
  downloader_options: { http_chunk_size: 1, ffmpeg_args: ['-x'] },
  fragments: [{ url: 'https://site.example/1' }],
};

describe('fields and protocols of yt-dlp', () => {
  it('have a row each', async () =>
    expect(await documented()).toEqual({
      formats: Object.keys(FORMAT_FIELDS).toSorted(),
      subtitles: Object.keys(SUBTITLE_FIELDS).toSorted(),
      sections: Object.keys(SECTION_FIELDS).toSorted(),
      protocols: Object.keys(PROTOCOLS).toSorted(),
    }));

  it('are read as their rows say', () => {
    const names = Object.keys(FORMAT_FIELDS).filter((name) => !name.includes('.'));
    const format = Object.fromEntries(names.map((name) => [name, VALUES[name] ?? '1']));
    const { formats } = readExtraction({ info: { formats: [format] } }).info;
    const isRead = (name: string) => FORMAT_FIELDS[name] !== 'ignored';
    expect(Object.keys((formats as object[])[0] ?? {}).toSorted()).toEqual(names.filter(isRead).toSorted());
  });
});
