/** `ok`, `warning`: works, but has a consequence to know about, `problem`: the service or a part of it does not work. */
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

const WIDTHS = { severity: 9, subject: 15 };

/** One line for the terminal. */
export const formatFinding = ({ severity, subject, text }: Finding): string =>
  severity.padEnd(WIDTHS.severity) + subject.padEnd(WIDTHS.subject) + text;
