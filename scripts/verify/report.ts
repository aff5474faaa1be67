import type { CheckResult, Verification } from './verify.ts';

const MARKS = { ok: 'ok     ', failed: 'FAILED ', skipped: 'skipped' } as const;

/** One check in a line, its remark behind it; the reason of a failure in a second line. */
export function formatResult({ title, outcome, detail }: Omit<CheckResult, 'seconds'>): string {
  const line = `  ${MARKS[outcome]}  ${title}`;
  if (!detail) return line;
  return outcome === 'failed' ? `${line}\n             ${detail}` : `${line} (${detail})`;
}

export const countResults = ({ results }: Verification, outcome: CheckResult['outcome']): number =>
  results.filter((result) => result.outcome === outcome).length;

/** The last line of the report. */
export function formatSummary(verification: Verification): string {
  const { requests, bytes, seconds } = verification;
  const count = (outcome: CheckResult['outcome']) => `${countResults(verification, outcome)} ${outcome}`;
  const sent = `${requests} requests, ${(bytes / 1e6).toFixed(1)} MB, ${seconds.toFixed(0)} s`;
  return `${count('ok')}, ${count('failed')}, ${count('skipped')}: ${sent}`;
}

/** A table with a line for each site: how many of its links were streamed, the median of their seconds, and why others were not. */
export function formatSites({ results }: Pick<Verification, 'results'>, sites: readonly string[]): string {
  const width = Math.max('site'.length, ...sites.map(({ length }) => length));
  const row = (site: string, links: string, seconds: string, failures: string) =>
    `${site.padEnd(width)}  ${links.padStart(10)}  ${seconds.padStart(8)}  ${failures}`.trimEnd();
  const rows = sites.map((site) => {
    const ofSite = results.filter(({ group }) => group === site);
    const streamed = ofSite.filter(({ outcome }) => outcome === 'ok');
    const seconds = streamed.map((result) => result.seconds).sort((one, other) => one - other);
    const median = seconds[Math.floor(seconds.length / 2)];
    const reasons = ofSite.filter(({ outcome }) => outcome !== 'ok').map(({ detail = '' }) => detail);
    const counted = [...new Set(reasons)].map((reason) => {
      const count = reasons.filter((other) => other === reason).length;
      return count > 1 ? `${reason} (${count})` : reason;
    });
    return row(site, `${streamed.length} of ${ofSite.length}`, median?.toFixed(1) ?? '', counted.join(', '));
  });
  return [row('site', 'streamed', 'seconds', 'not streamed'), ...rows].join('\n');
}
