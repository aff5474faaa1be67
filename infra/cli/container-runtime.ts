/** What the check of the container runtime needs of its surroundings. */
export interface ContainerCheck {
  /** Program that builds the image: `docker`, `finch`, `podman`. */
  readonly program: string;
  /** Architecture of the deployment. */
  readonly architecture: 'x86_64' | 'arm64';
  /** Architecture of this machine, as Node spells it. */
  readonly builder: string;
  readonly run: (
    program: string,
    args: readonly string[],
  ) => { readonly status: number | null; readonly error?: Error; readonly stdout: string };
}

/** Names of the architectures in container platforms. */
const PLATFORMS = { x86_64: 'amd64', arm64: 'arm64' } as const;

/**
 * Why the image of the stream service cannot be built here, in one line; undefined when it can, or when the runtime does not
 * tell which platforms it emulates.
 */
export function findContainerProblem({ program, architecture, builder, run }: ContainerCheck): string | undefined {
  const { status, error } = run(program, ['info']);
  if (status !== 0) {
    const trouble = error ? 'is not installed' : 'does not run';
    return `The stream service is deployed as an image, and ${program} ${trouble}: start it, or set CDK_DOCKER to finch or podman`;
  }
  const platform = PLATFORMS[architecture];
  if (platform === (builder === 'x64' ? 'amd64' : builder)) return undefined;
  const { stdout } = run(program, ['buildx', 'inspect']);
  const [, platforms] = /^Platforms:(.*)$/m.exec(stdout ?? '') ?? [];
  if (platforms === undefined || platforms.includes(`linux/${platform}`)) return undefined;
  const other = architecture === 'arm64' ? 'x86_64' : 'arm64';
  return `${program} cannot build for ${architecture} on this machine: install emulation (docker run --privileged --rm tonistiigi/binfmt --install ${platform}), or deploy with -c architecture=${other}`;
}
