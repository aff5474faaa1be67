const ends: (() => unknown)[] = [];

/**
 * Ends something after the tests of the file that runs, last first. Unlike `afterAll`, tests and shared helpers may call it:
 * the files of a worker share the modules, so a hook at the top of a helper would belong to the first file alone.
 */
export const afterFile = (end: () => unknown): void => void ends.push(end);

/** Called by the setup files of vitest.config.ts. */
export async function endFile(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}
