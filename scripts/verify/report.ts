import type { CheckResult, Verification } from './verify.ts';

const MARKS = { ok: 'ok     ', failed: 'FAILED ', skipped: 'skipped' } as const;

/** One check in a line, its remark behind it; the reason of a failure in a second line. */
export function formatResult({ title, outcome, detail }: CheckResult): string {
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
