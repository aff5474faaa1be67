import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runProgram, withTemporaryFolder } from '../../support/media-tools.ts';
import { installPythonPackages } from '../../support/python-packages.ts';
import { ask, createApiFakes } from '../fakes.ts';
import { HOSTILE, itemOf, LIST_URL, listOf } from './feed/fixture.ts';

const run = promisify(execFile);

/** What two podcast libraries read of a file, as JSON. */
const READ = `
import json, sys, io
import feedparser, podcastparser
data = open(sys.argv[1], 'rb').read()
parsed = feedparser.parse(data)
podcast = podcastparser.parse('https://feed.example/', io.BytesIO(data))
print(json.dumps({
  'bozo': bool(parsed.bozo), 'error': str(parsed.get('bozo_exception', '')), 'version': parsed.version,
  'title': parsed.feed.title, 'image': parsed.feed.get('image', {}).get('href'),
  'entries': [[e.title, e.id, e.enclosures[0].href, e.enclosures[0].type, e.enclosures[0].length,
    e.get('itunes_duration'), list(e.get('published_parsed') or [])[:3], e.get('summary')] for e in parsed.entries],
  'podcast': [podcast['title'], podcast.get('cover_url'), [[e['title'], e['total_time'], e['published'],
    e['enclosures'][0]['url'], e['enclosures'][0]['file_size'], e['enclosures'][0]['mime_type'],
    [[c['start'], c['title']] for c in e.get('chapters', [])]] for e in podcast['episodes']]],
}))`;

async function readFeed(titles: readonly string[]) {
  const fakes = createApiFakes();
  const details = {
    description: 'Plain <script>alert(1)</script>\ntext',
    uploadDate: '2026-11-20',
    chapters: [
      { title: 'Start & more', startSeconds: 0 },
      { title: 'End', startSeconds: 3_723 },
    ],
  };
  fakes.outcome = listOf(titles.map((title) => ({ resource: itemOf(title, { details }) })));
  const path = `/api/Feed?${new URLSearchParams({ url: LIST_URL })}`;
  const { body = '' } = await ask(fakes, path, { headers: { host: 'reelay.example' } });
  const python = await installPythonPackages('feeds', 'feedparser==6.0.14', 'podcastparser==0.6.11');
  return withTemporaryFolder(async (folder) => {
    const file = join(folder, 'feed.xml');
    await writeFile(file, body);
    const { code, output } = await runProgram('xmllint', ['--noout', '--nonet', file]);
    expect([code, output]).toEqual([0, '']);
    return JSON.parse((await run(python, ['-c', READ, file])).stdout);
  });
}

describe('podcast clients', () => {
  it('read every field of the feed', async () => {
    const found = await readFeed(['One', 'Two']);
    const url = (index: number) => `https://media.example/${index}?x=1&y=ä`;
    const enclosure = (index: number) =>
      `http://reelay.example/api/Get?${new URLSearchParams({ url: url(index), quality: 'mp3' })}`;
    expect(found).toMatchObject({
      bozo: false,
      error: '',
      version: 'rss20',
      title: 'A list',
      image: 'https://media.example/cover.jpg',
      entries: ['One', 'Two'].map((title, index) => [
        ...[title, url(index), enclosure(index), 'audio/mpeg', '1234567', '62', [2026, 11, 20]],
        'Plain &lt;script&gt;alert(1)&lt;/script&gt;<br />text',
      ]),
    });
    const [title, cover, episodes] = found.podcast;
    expect([title, cover]).toEqual(['A list', 'https://media.example/cover.jpg']);
    expect(episodes).toHaveLength(2);
    for (const [, seconds, published, , size, type, chapters] of episodes) {
      expect([seconds, published, size, type]).toEqual([62, Date.UTC(2026, 10, 20) / 1000, 1_234_567, 'audio/mpeg']);
      expect(chapters).toEqual([
        [0, 'Start & more'],
        [3723, 'End'],
      ]);
    }
  });

  it('read hostile titles as text', async () => {
    const { bozo, error, entries } = await readFeed(HOSTILE);
    expect([bozo, error]).toEqual([false, '']);
    expect(entries).toHaveLength(HOSTILE.length);
  });
});
