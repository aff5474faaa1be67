import { copyFile, mkdir, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PLUGIN_DIR } from '../../../layers/tools/index.ts';
import { syscallFilter } from '../process/index.ts';

export interface SandboxOptions {
  /** The JavaScript runtime, and what starts it. */
  readonly programs: readonly string[];
  readonly pluginDirs: readonly string[];
  /** Of the operator. The servers that they name may be reached. */
  readonly extractorArgs?: readonly string[];
  /** Folders for what yt-dlp writes; the first one is for temporary files. Those that do not exist are created. */
  readonly writable: readonly [string, ...string[]];
  /** Proxies that may be reached. */
  readonly proxies?: readonly string[];
  /** For the plugin of `writeSandboxPlugin`, which sets them. */
  readonly limits?: ProcessLimits;
}

/** Limits of the operating system. */
export interface ProcessLimits {
  /** Address space of yt-dlp; its JavaScript runtime has more. */
  readonly memoryBytes: number;
  /** Processor time. */
  readonly cpuSeconds: number;
}

const EXTRACTORS = join('yt_dlp_plugins', 'extractor');
/** The modules of the worker that import nothing of yt-dlp. */
const CONFINING_MODULES = ['_reelay_limits.py', '_reelay_sandbox.py'];
/** What the plugin writes to stderr once it has confined its process: yt-dlp ignores plugins that it cannot load. */
export const CONFINED = 'reelay: confined';
const CONFINE = `"""Limits and confines the process that loads it. Without that, the process ends."""
import json
import os
import sys
import traceback

try:
    from ._reelay_limits import die_with_parent, limit_memory, limit_usage
    from ._reelay_sandbox import Sandbox
    path = os.path.join(os.environ['HOME'], 'sandbox.json')
    with open(path, encoding='utf-8') as file:
        limits = json.load(file)['limits']
    die_with_parent()
    limit_memory(limits['memoryBytes'])
    limit_usage(limits['cpuSeconds'])
    Sandbox(path).confine()
    print('${CONFINED}', file=sys.stderr, flush=True)
except BaseException:
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)
`;
/** Of bgutil-ytdlp-pot-provider, which connects to it where no argument names another. */
const PROVIDER_PORT = 4416;

/** Writes into its home folder what a process of yt-dlp is confined to, as `_reelay_sandbox.py` reads it. */
export async function writeSandbox(home: string, options: SandboxOptions): Promise<void> {
  const { programs, pluginDirs, extractorArgs = [], writable, proxies = [], limits } = options;
  for (const dir of writable) await mkdir(dir, { recursive: true });
  const servers = extractorArgs.flatMap((text) => text.match(/https?:\/\/[^\s;,]+/g) ?? []);
  const paths = await Promise.all(programs.map((program) => realpath(program)));
  const permitted = {
    // A build of Node may come with its libraries.
    programs: paths.flatMap((path) => [path, join(dirname(dirname(path)), 'lib')]),
    readable: [home, ...pluginDirs],
    writable,
    temporary: writable[0],
    ports: [...[...servers, ...proxies].flatMap(portOf), ...(pluginDirs.length > 0 ? [PROVIDER_PORT] : [])],
    limits,
    filter: syscallFilter('yt-dlp', process.arch)?.toString('base64') ?? '',
  };
  await writeFile(join(home, 'sandbox.json'), JSON.stringify(permitted), { mode: 0o600 });
}

/**
 * Writes a plugin that limits and confines the process that loads it, as a fork of the worker: for versions that do not run
 * the worker. It needs no program of the system.
 */
export async function writeSandboxPlugin(dir: string): Promise<string> {
  const folder = join(dir, 'reelay_sandbox', EXTRACTORS);
  await mkdir(folder, { recursive: true });
  for (const name of CONFINING_MODULES)
    await copyFile(join(PLUGIN_DIR, 'reelay', EXTRACTORS, name), join(folder, name));
  await writeFile(join(folder, 'reelay_sandbox.py'), CONFINE);
  return dir;
}

function portOf(url: string): number[] {
  if (!URL.canParse(url)) return [];
  const { protocol, port } = new URL(url);
  return [Number(port || (protocol === 'https:' ? 443 : 80))];
}
