import { describe, expect, it } from 'vitest';
import { findContainerProblem } from '../../../infra/cli/container-runtime.ts';

describe('findContainerProblem', () => {
  it('accepts a runtime that responds', () =>
    expect(findContainerProblem({ program: 'docker', run: () => ({ status: 0 }) })).toBeUndefined());

  it.each([
    ['is not installed', { status: null, error: new Error('spawn docker ENOENT') }],
    ['does not run', { status: 1 }],
  ])('says that the runtime %s, and what to do', (trouble, result) =>
    expect(findContainerProblem({ program: 'docker', run: () => result })).toBe(
      `The stream service is deployed as an image, and docker ${trouble}: start it, or set CDK_DOCKER to finch or podman`,
    ),
  );
});
