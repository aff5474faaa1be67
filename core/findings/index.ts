/** `ok`, `warning`: works, but has a consequence to know about, or could not be checked; `problem`: it or a part of it does not work. */
type Severity = 'ok' | 'warning' | 'problem';

/** What a check found, in one line, with what to do unless it is ok. */
export interface Finding {
  readonly severity: Severity;
  readonly subject: string;
  readonly text: string;
}

/** Creates findings on one subject. */
export const findingsOn = (subject: string) => ({
  ok: (text: string): Finding => ({ severity: 'ok', subject, text }),
  warning: (text: string): Finding => ({ severity: 'warning', subject, text }),
  problem: (text: string): Finding => ({ severity: 'problem', subject, text }),
});

export const hasProblem = (findings: readonly Finding[]): boolean =>
  findings.some(({ severity }) => severity === 'problem');

/** One line for each finding, in columns. */
export function formatFindings(findings: readonly Finding[], width = 14): string {
  const subjects = Math.max(width, ...findings.map(({ subject }) => subject.length)) + 1;
  return findings
    .map(({ severity, subject, text }) => `${severity.padEnd(9)}${subject.padEnd(subjects)}${text}`)
    .join('\n');
}
