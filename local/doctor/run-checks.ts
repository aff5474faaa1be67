import { readSettings, SettingError, type Settings } from '../../core/config/index.ts';
import { type Finding, findingsOn } from './finding.ts';
import { checkFolders } from './machine.ts';
import { checkExposure, checkOutgoing } from './network.ts';
import { checkTools } from './programs.ts';

interface DoctorOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names in `.env` that are not settings. */
  readonly unknownVariables: readonly string[];
  /** Asked through every outgoing connection. @default https://example.com/ */
  readonly referenceUrl?: string;
}

/** Checks what an instance needs on this machine, and yields each finding as soon as it is known. Changes no setting. */
export async function* runChecks({
  environment,
  unknownVariables,
  referenceUrl,
}: DoctorOptions): AsyncGenerator<Finding> {
  const { ok, warning, problem } = findingsOn('Settings');
  let settings: Settings;
  try {
    settings = readSettings(environment);
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    yield problem(error.message);
    return;
  }
  yield unknownVariables.length > 0
    ? warning(`.env has ${unknownVariables.join(', ')}, which is not a setting: see docs/settings.md`)
    : ok('valid');
  yield* await checkFolders(settings);
  yield checkExposure(settings);
  yield* await checkTools(settings);
  yield* await checkOutgoing(settings, referenceUrl);
}
