import { createHash } from 'node:crypto';
import { runCommand } from '../command-line.ts';
import type { Commit } from './source-archive.ts';

/** A component of CycloneDX 1.5, as far as a release makes some itself. */
export interface Component {
  readonly type: 'application' | 'file' | 'operating-system';
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  /** Hex. */
  readonly sha256?: string;
}

interface Sbom {
  serialNumber: string;
  metadata: { timestamp: string; component: { name: string } };
  components: readonly {
    readonly name: string;
    readonly 'bom-ref'?: string;
    readonly properties?: readonly Property[];
  }[];
  dependencies: { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Property {
  readonly name: string;
  readonly value: string;
}

const DEVELOPMENT = 'cdx:npm:package:development';

/**
 * The software bill of materials (CycloneDX) of the packages in the lockfile that run, and of further components. The same
 * for the same input: npm would put the time, a random number and the name of the folder into it.
 * @param dir the unpacked source archive
 */
export async function makeSbom(dir: string, commit: Commit, further: readonly Component[] = []): Promise<string> {
  const options = ['--sbom-format', 'cyclonedx', '--package-lock-only'];
  const sbom = withoutDevelopment(JSON.parse(await runCommand('npm', ['sbom', ...options], dir)) as Sbom);
  sbom.metadata.timestamp = new Date(commit.epochSeconds * 1000).toISOString();
  sbom.metadata.component.name = 'reelay';
  sbom.components = [...sbom.components, ...further.map(toCycloneDx)];
  sbom.serialNumber = '';
  sbom.serialNumber = `urn:uuid:${uuidOf(`${commit.id} ${JSON.stringify(sbom)}`)}`;
  return `${JSON.stringify(sbom, undefined, 2)}\n`;
}

/** `--omit dev` of npm 11 also leaves out packages that run, and that packages for development refer to as well. */
function withoutDevelopment(sbom: Sbom): Sbom {
  const isDevelopment = ({ properties = [] }: Sbom['components'][number]) =>
    properties.some(({ name, value }) => name === DEVELOPMENT && value === 'true');
  const left = new Set(sbom.components.filter(isDevelopment).map((component) => component['bom-ref']));
  const dependencies = sbom.dependencies
    .filter(({ ref }) => !left.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => !left.has(other)) }));
  return { ...sbom, components: sbom.components.filter((component) => !isDevelopment(component)), dependencies };
}

const toCycloneDx = ({ sha256, ...component }: Component) => ({
  ...component,
  ...(sha256 && { hashes: [{ alg: 'SHA-256', content: sha256 }] }),
});

/** A UUID of version 8 (RFC 9562 §5.8) by content. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
