import { readdirSync } from 'node:fs';
import type { Settings } from '../../core/config/index.ts';
import { type Finding, findingsOn } from './finding.ts';

/** The plugin of the provider, as an archive whose name may tell its version, or as a folder. */
const PLUGIN = /^bgutil[-_]ytdlp[-_]pot[-_]provider(?:-(\d[\w.]*?)-.*\.whl)?/i;
const BASE_URL = /^youtubepot-bgutilhttp:(?:.*;)?base_url=([^;,]+)/;
/** Of the plugin, where no argument names another address. */
const DEFAULT_URL = 'http://127.0.0.1:4416';
const TIMEOUT_MS = 10_000;

/** The provider of PO tokens, if there is its plugin or an argument for it: whether both parts are in place. */
export async function checkTokenProvider({
  ytDlpPlugins: dir,
  ytDlpExtractorArgs: args,
}: Pick<Settings, 'ytDlpPlugins' | 'ytDlpExtractorArgs'>): Promise<Finding[]> {
  const { ok, warning, problem } = findingsOn('PO tokens');
  const plugin = (dir === undefined ? [] : readdirSync(dir)).map((name) => PLUGIN.exec(name)).find(Boolean);
  const given = args.map((text) => BASE_URL.exec(text)?.[1]).find((url) => url !== undefined);
  if (!plugin)
    return given === undefined
      ? []
      : [problem('YT_DLP_PLUGINS has no bgutil-ytdlp-pot-provider: put its wheel into that folder')];
  const url = given ?? DEFAULT_URL;
  const version = await askVersion(url);
  if (version === undefined)
    return [problem(`the provider does not answer at ${url}: start its server, or name it in YT_DLP_EXTRACTOR_ARGS`)];
  if (plugin[1] !== undefined && plugin[1] !== version)
    return [warning(`the provider has version ${version}, its plugin ${plugin[1]}: use the same version of both`)];
  return [ok(`the provider ${version} answers at ${url}`)];
}

/** Undefined when it does not answer as the provider does. It is asked directly, as by its plugin. */
async function askVersion(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url.replace(/\/$/, '')}/ping`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const { version } = (await response.json()) as { version?: unknown };
    return typeof version === 'string' ? version.slice(0, 40) : undefined;
  } catch {
    return undefined;
  }
}
