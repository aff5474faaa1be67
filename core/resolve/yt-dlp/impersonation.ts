import { listImpersonateTargets, offersTarget, type YtDlp } from '@reelay/yt-dlp-worker';
import { matchesSite, parseImpersonationRule } from '../../config/index.ts';
import { describeError, type Log } from '../../log/index.ts';

/** Which browser yt-dlp imitates. */
interface Impersonation {
  /** Reports what this build can imitate, ahead of the first link. */
  prepare(ytDlp: YtDlp): void;
  /** The browser for a link, if this build of yt-dlp can imitate it; undefined: none. Never rejects. */
  targetFor(link: string, ytDlp: YtDlp): Promise<string | undefined>;
}

/**
 * @param rules `target` or `site=target`; the first that names the site of a link applies, else the one without a site
 * @param list the targets of a build, requested once for each
 * @returns undefined without rules
 */
export function createImpersonation(
  rules: readonly string[],
  log: Log,
  list: typeof listImpersonateTargets = listImpersonateTargets,
): Impersonation | undefined {
  if (rules.length === 0) return undefined;
  const parsed = rules.map((text, index) => {
    const rule = parseImpersonationRule(text);
    if (!rule) throw new Error(`Impersonation rule ${index + 1} is not target or site=target`);
    return rule;
  });
  let build: YtDlp | undefined;
  let offered: Promise<ReadonlySet<string>> | undefined;

  const check = async (ytDlp: YtDlp): Promise<ReadonlySet<string>> => {
    const { version } = ytDlp;
    const wanted = [...new Set(parsed.map(({ target }) => target))];
    try {
      const targets = await list(ytDlp);
      const missing = wanted.filter((target) => !offersTarget(targets, target));
      if (targets.length === 0)
        log.warn('yt-dlp cannot imitate browsers: this build lacks curl_cffi', { version, impersonate: rules });
      else if (missing.length > 0) log.warn('yt-dlp cannot imitate these browsers', { version, missing });
      else log.info('yt-dlp imitates browsers', { version, impersonate: rules });
      return new Set(wanted.filter((target) => !missing.includes(target)));
    } catch (error) {
      log.warn('yt-dlp imitates no browsers: it did not list them', { version, error: describeError(error) });
      return new Set();
    }
  };

  const targetsOf = (ytDlp: YtDlp): Promise<ReadonlySet<string>> => {
    if (!offered || build?.command.join('\0') !== ytDlp.command.join('\0')) {
      build = ytDlp;
      offered = check(ytDlp);
    }
    return offered;
  };

  return {
    prepare: (ytDlp) => void targetsOf(ytDlp),
    async targetFor(link, ytDlp) {
      const rule =
        parsed.find(({ site }) => site && matchesSite(site, link)) ?? parsed.find(({ site }) => site === undefined);
      return rule && (await targetsOf(ytDlp)).has(rule.target) ? rule.target : undefined;
    },
  };
}
