/** Dependencies of the check of the container runtime. */
export interface ContainerCheck {
  /** Program that builds the image: `docker`, `finch`, `podman`. */
  readonly program: string;
  readonly run: (
    program: string,
    args: readonly string[],
  ) => { readonly status: number | null; readonly error?: Error };
}

/**
 * Why the image of the stream service cannot be built here, in one line; undefined when it can. The architecture does not
 * matter: no command runs in the build.
 */
export function findContainerProblem({ program, run }: ContainerCheck): string | undefined {
  const { status, error } = run(program, ['info']);
  if (status === 0) return undefined;
  const state = error ? 'is not installed' : 'does not run';
  return `The stream service is deployed as an image, and ${program} ${state}: start it, or set CDK_DOCKER to finch or podman`;
}
