/** What one check found. */
export interface Finding {
  /** `problem`: the deployment would fail. `warning`: it works with less, or what was looked for is not known. */
  readonly state: 'ok' | 'warning' | 'problem';
  readonly subject: string;
  /** What was found, and what to do about it, in one line. */
  readonly text: string;
}

export const ok = (subject: string, text: string): Finding => ({ state: 'ok', subject, text });
export const warning = (subject: string, text: string): Finding => ({ state: 'warning', subject, text });
export const problem = (subject: string, text: string): Finding => ({ state: 'problem', subject, text });

const MARKS = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' } as const;

/** One line for each finding. */
export const formatFindings = (findings: readonly Finding[]): string =>
  findings.map(({ state, subject, text }) => `${MARKS[state]}  ${subject}: ${text}`).join('\n');
