import { describe, expect, it } from 'vitest';
import { type ContainerCheck, findContainerProblem } from '../../../infra/cli/container-runtime.ts';

/** A machine whose container program knows these platforms. */
const machine = (builder: string, platforms: string | undefined): Omit<ContainerCheck, 'architecture'> => ({
  program: 'docker',
  builder,
  run: (_, [command]) => ({
    status: 0,
    stdout: command === 'buildx' && platforms !== undefined ? `Name: default\nPlatforms: ${platforms}\n` : '',
  }),
});

describe('findContainerProblem', () => {
  it.each([
    ['x64', 'x86_64', 'linux/amd64'],
    ['arm64', 'arm64', 'linux/arm64'],
    ['x64', 'arm64', 'linux/amd64, linux/arm64, linux/386'],
    ['arm64', 'x86_64', 'linux/arm64, linux/amd64'],
    // finch and podman have no such command.
    ['x64', 'arm64', undefined],
  ] as const)('accepts a builder on %s for %s with %s', (builder, architecture, platforms) =>
    expect(findContainerProblem({ ...machine(builder, platforms), architecture })).toBeUndefined(),
  );

  it.each([
    ['x64', 'arm64', 'linux/amd64', 'x86_64'],
    ['arm64', 'x86_64', 'linux/arm64', 'arm64'],
  ] as const)('names both ways out on %s for %s without emulation', (builder, architecture, platforms, other) =>
    expect(findContainerProblem({ ...machine(builder, platforms), architecture })).toMatch(
      new RegExp(`^docker cannot build for ${architecture} .*binfmt.* or deploy with -c architecture=${other}$`),
    ),
  );
});
