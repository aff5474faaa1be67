import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { Commit, ReleaseFile } from './source-archive.ts';

const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
const PREDICATE_TYPE = 'https://slsa.dev/provenance/v1';
/** Described in docs/releasing.md. */
const BUILD_TYPE = 'urn:reelay:release:v1';
const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

/** What a release was made from, besides its commit. */
export interface Dependency {
  readonly uri?: string;
  readonly name?: string;
  /** By algorithm, in hex. */
  readonly digest?: Readonly<Record<string, string>>;
}

export interface ProvenanceOptions {
  readonly commit: Commit;
  readonly files: readonly ReleaseFile[];
  /** URL of the repository; absent where it has none. */
  readonly repository?: string | undefined;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly dependencies: readonly Dependency[];
  /** URI of who ran the build. */
  readonly builder: string;
  /** Versions of the programs that built it. */
  readonly versions: Readonly<Record<string, string>>;
}

/**
 * An in-toto statement with a SLSA provenance (v1): which files were made from which commit, by whom, and how. Without the times
 * of the run, which the format leaves optional: two runs give the same.
 */
export function makeProvenance(options: ProvenanceOptions): string {
  const { commit, files, repository, parameters, dependencies, builder, versions } = options;
  const statement = {
    _type: STATEMENT_TYPE,
    subject: files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: PREDICATE_TYPE,
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { ...(repository && { repository }), version: commit.version, ...parameters },
        internalParameters: { SOURCE_DATE_EPOCH: commit.epochSeconds },
        resolvedDependencies: [
          {
            ...(repository && { uri: `${repository}@${commit.id}` }),
            name: 'source',
            digest: { gitCommit: commit.id },
          },
          ...dependencies,
        ],
      },
      runDetails: { builder: { id: builder, version: versions } },
    },
  };
  return `${JSON.stringify(statement, undefined, 2)}\n`;
}

/** Signs a statement: an envelope (DSSE v1) on one line, as in-toto attestations are distributed. @param key private, PEM */
export function signStatement(statement: string, key: string): string {
  const privateKey = createPrivateKey(key);
  const signature = sign(algorithmOf(privateKey), preAuthenticationEncoding(statement), privateKey);
  const envelope = {
    payloadType: PAYLOAD_TYPE,
    payload: Buffer.from(statement).toString('base64'),
    signatures: [{ keyid: keyIdOf(createPublicKey(privateKey)), sig: signature.toString('base64') }],
  };
  return `${JSON.stringify(envelope)}\n`;
}

/**
 * The files that a signed statement names. @param key public, PEM
 * @throws Error when it is no envelope, or no signature is of this key
 */
export function readSigned(envelope: string, key: string): ReleaseFile[] {
  const publicKey = createPublicKey(key);
  const { payloadType, payload, signatures } = JSON.parse(envelope) as {
    payloadType: string;
    payload: string;
    signatures: { sig: string }[];
  };
  const statement = Buffer.from(payload, 'base64').toString();
  const signed = preAuthenticationEncoding(statement);
  const isValid = signatures.some(({ sig }) =>
    verify(algorithmOf(publicKey), signed, publicKey, Buffer.from(sig, 'base64')),
  );
  if (payloadType !== PAYLOAD_TYPE || !isValid) throw new Error('The provenance has no signature of this key');
  const { subject } = JSON.parse(statement) as { subject: { name: string; digest: { sha256: string } }[] };
  return subject.map(({ name, digest }) => ({ name, sha256: digest.sha256 }));
}

/** Ed25519 has a hash of its own. */
const algorithmOf = (key: KeyObject): string | null => (key.asymmetricKeyType?.startsWith('ed') ? null : 'sha256');

const keyIdOf = (key: KeyObject): string =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex');

/** What is signed (DSSE v1): type and content, each with its length in bytes. */
const preAuthenticationEncoding = (statement: string): Buffer =>
  Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${Buffer.byteLength(statement)} ${statement}`);
