/** `npm run doctor`: checks this machine and its settings, a line for each finding. Exits with 1 when there is a problem. */
import { SettingError } from '../core/config/index.ts';
import { formatFindings, hasProblem } from '../core/findings/index.ts';
import { runChecks } from './checks.ts';
import { loadDotEnv } from './process.ts';

try {
  const unknownVariables = loadDotEnv();
  for await (const finding of runChecks({ environment: process.env, unknownVariables })) {
    process.stdout.write(`${formatFindings([finding])}\n`);
    if (hasProblem([finding])) process.exitCode = 1;
  }
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  process.stdout.write(`${error.message}\n`);
  process.exitCode = 1;
}
