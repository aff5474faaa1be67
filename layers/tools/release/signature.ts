/**
 * Checks a detached OpenPGP signature.
 * @param armoredKey the only trusted key
 * @throws Error when this is not a signature of the content by that key
 */
export async function checkSignature(content: Buffer, signature: Buffer, armoredKey: string): Promise<void> {
  // Imported on use: it takes several MB of memory, and is needed once in a few weeks.
  const { createMessage, readKey, readSignature, verify } = await import('openpgp');
  const { signatures } = await verify({
    message: await createMessage({ binary: content }),
    signature: await readSignature({ binarySignature: signature }),
    verificationKeys: await readKey({ armoredKey }),
    expectSigned: true,
  });
  await Promise.all(signatures.map(({ verified }) => verified));
}

/**
 * The digest of a file in a list in the format of `sha256sum`: hex, lower case.
 * @throws Error when the list does not contain the file
 */
export function digestOf(list: string, name: string): string {
  for (const line of list.split('\n')) {
    const [, digest, file] = /^([0-9a-f]{64}) [ *](.+?)\r?$/i.exec(line) ?? [];
    if (digest && file === name) return digest.toLowerCase();
  }
  throw new Error(`the list of checksums does not contain ${name}`);
}
