import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useTarget } from '../contract/target.ts';
import { itWith } from '../support/clients.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { installPythonPackages } from '../support/python-packages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** What the documents say to paste, with the links of the origin in the place of their examples. */

const ROOT = resolve(import.meta.dirname, '../..');
const target = useTarget();
const read = (file: string) => readFile(join(ROOT, file), 'utf8');
const [, ...sections] = (await read('docs/clients.md')).split(/^## /m);
const blocks = (language: string, heading: string): string[] => {
  const section = sections.find((text) => text.startsWith(`${heading}\n`)) ?? expect.fail(`No section ${heading}`);
  return [...section.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , text = '']) => text);
};
const others = await Promise.all(['clients/reelay-client/README.md', 'docs/api.md'].map(read));
const commands = [
  ...sections
    .map((text) => text.split('\n', 1)[0] ?? '')
    .flatMap((heading) => blocks('sh', heading).flatMap((text) => text.split('\n'))),
  // Without the comments behind them.
  ...others.flatMap((text) => text.match(/^reelay https:\S+ .*?(?= {4}#|$)/gm) ?? []),
];

const CLIP = () => target.origin.url('/files/clip.mp4');
const LIST = () => target.origin.url('/feeds/podcast.xml');
/** With the base address and the links of the test. */
const filled = (text: string) =>
  text
    .replaceAll('https://example.com/some/video', CLIP())
    .replaceAll(/https:\/\/example\.com\/(?:some\/)?list/g, LIST())
    .replaceAll('storage:', 'stored/')
    .replaceAll(/(?<!\$)\bBASE\//g, `${target.baseUrl}/`);

/** VLC does not run as root. */
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Players without windows and speakers, which end by themselves; VLC writes what it plays into a file. */
const PLAYERS: Readonly<Record<string, { readonly as: string; readonly end?: string; readonly user?: object }>> = {
  mpv: { as: 'mpv --no-config --no-terminal --vo=null --ao=null --end=2' },
  vlc: {
    as: "vlc -I dummy --no-interact --no-sout-all '--sout=#standard{access=file,mux=ts,dst=played.ts}'",
    end: 'vlc://quit',
    user: UNPRIVILEGED,
  },
  reelay: { as: `'${process.execPath}' '${join(ROOT, 'clients/reelay-client/src/cli/main.ts')}'` },
};

/** @param leader undefined where it could not be started */
function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

/** @returns the folder that it has run in */
async function run(command: string): Promise<string> {
  const folder = await temporaryFolder();
  await chmod(folder, 0o777);
  const [program = ''] = command.split(' ');
  const { as = program, end = '', user } = PLAYERS[program] ?? {};
  const env = { PATH: process.env.PATH, HOME: folder, BASE: target.baseUrl, REELAY_INSTANCE: target.baseUrl };
  const args = ['-c', `${as}${filled(command.slice(program.length))} ${end}`];
  // In a group of its own: a test that ends early ends the player too, and not the shell alone.
  const child = spawn('sh', args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true, ...user });
  onTestFinished(() => killGroup(child.pid));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  expect(code, output).toBe(0);
  return folder;
}

describe('a command of the documents', () => {
  it('is there for each of the programs', () => {
    const programs = new Set(commands.map((command) => command.split(' ', 1)[0]));
    expect(programs).toEqual(new Set(['mpv', 'vlc', 'reelay', 'aria2c', 'curl']));
  });

  for (const command of commands) {
    const [program = ''] = command.split(' ', 1);
    const needed = ['aria2c', 'rclone'].find((name) => command.includes(name)) ?? program;
    const test = needed === 'reelay' ? it : itWith(needed);
    test(`runs: ${command}`, async () => {
      const folder = await run(command);
      const files = (await readdir(folder, { recursive: true })).filter((name) =>
        /\.(?:mp4|mp3|m4a|strm|ts|zip)$/.test(name),
      );
      if (needed !== 'mpv') expect(files).not.toEqual([]);
      for (const name of files) expect((await stat(join(folder, name))).size).toBeGreaterThan(20);
      if (/^aria2c|rcat/.test(command)) {
        const file = await readFile(join(folder, files[0] ?? ''));
        expect(file.equals(await readFile(join(target.origin.mediaDir, 'clip.mp4')))).toBe(true);
      }
    });
  }
});

describe('the README', () => {
  it('has commands that resolve a link, and save its file, its sound and its stream', async () => {
    const lines = (await read('README.md')).match(/^curl .*?(?= {3,}#|$)/gm) ?? [];
    const { video } = (await target.resolve(CLIP())).resource.mediaItems[0] ?? expect.fail('No item');
    const saved = new Set<string>();
    for (const line of lines) {
      const folder = await run(
        line.replaceAll('http://127.0.0.1:8080', target.baseUrl).replace('/KEY', `/${video?.bestQualityKey}`),
      );
      for (const name of await readdir(folder)) saved.add(name);
    }
    expect([lines.length, [...saved].toSorted()]).toEqual([5, ['clip.mp3', 'clip.mp4']]);
  });
});

/** What a program of Python prints. */
const printed = async (python: string, code: string, ...args: string[]) =>
  (await promisify(execFile)(python, ['-c', code, ...args])).stdout;

it('the address for podcast clients is a feed that the parser of gPodder reads, and its links are files', async () => {
  const python = await installPythonPackages('podcastparser', 'podcastparser==0.6.11');
  const [address = ''] = blocks('text', 'Podcast clients');
  const feed = await (await fetch(filled(address))).text();
  const file = join(await temporaryFolder(), 'feed.xml');
  await writeFile(file, feed);
  const code =
    'import json, podcastparser, sys; print(json.dumps(podcastparser.parse("http://x/", open(sys.argv[1], "rb"))))';
  const { episodes } = JSON.parse(await printed(python, code, file)) as {
    episodes: { enclosures: { url: string; mime_type: string }[] }[];
  };
  expect(episodes).toHaveLength(3);
  for (const { enclosures } of episodes) {
    const [{ url, mime_type: type } = expect.fail('No file')] = enclosures;
    const response = await fetch(url);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(10_000);
  }
});

it('the script of Home Assistant plays the address that its template gives', async () => {
  const python = await installPythonPackages('jinja2', 'jinja2==3.1.6', 'pyyaml==6.0.3');
  const [script = ''] = blocks('yaml', 'Home Assistant');
  const code = `import jinja2, sys, yaml
[step] = yaml.safe_load(sys.argv[1])["script"]["play_link"]["sequence"]
print(jinja2.Environment().from_string(step["data"]["media_content_id"]).render(link=sys.argv[2]))`;
  const response = await fetch((await printed(python, code, filled(script), CLIP())).trim());
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
  await response.body?.cancel();
});

it('the function for Discord gives a file that fits, or the reason', async () => {
  const [text = ''] = blocks('ts', 'Discord and Telegram bots');
  const file = join(await temporaryFolder(), 'bot.ts');
  await writeFile(file, text);
  const { fetchFile } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    fetchFile: (base: string, link: string, maxBytes?: number) => Promise<{ attachment: Buffer; name: string }>;
  };
  const { attachment, name } = await fetchFile(target.baseUrl, CLIP());
  expect([attachment.length, name]).toEqual([(await stat(join(target.origin.mediaDir, 'clip.mp4'))).size, 'clip.mp4']);
  await expect(fetchFile(target.baseUrl, CLIP(), 1000)).rejects.toThrow(/\d/);
});

it('the address for Telegram is a file that fits', async () => {
  const [address = ''] = blocks('text', 'Discord and Telegram bots');
  const response = await fetch(filled(address));
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'video/mp4']);
  expect((await response.arrayBuffer()).byteLength).toBeLessThan(20_000_000);
});

it('the entry for assistants is a server that lists its tools', async () => {
  const [text = ''] = blocks('json', 'Assistants');
  const { url } = JSON.parse(filled(text)).mcpServers.reelay;
  const { client } = await connectMcp(url);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('fetch_media');
});
