import { onTestFinished, TestRunner } from 'vitest';
import { afterFile } from './after-file.ts';

/** Closes something after the test that opens it, or after the tests of the file where none runs. @returns it */
export function closeAfterwards<T extends { close(): unknown }>(opened: T): T {
  const close = async () => void (await opened.close());
  if (TestRunner.getCurrentTest()) onTestFinished(close);
  else afterFile(close);
  return opened;
}
