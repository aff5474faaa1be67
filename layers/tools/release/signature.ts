/**
 * Checks a detached OpenPGP signature.
 * @param armoredKey the only key that is believed
 * @throws Error when it is not this key's signature of these bytes
 */
export async function checkSignature(content: Buffer, signature: Buffer, armoredKey: string): Promise<void> {
  // Only now: it takes several MB, and is wanted once in some weeks.
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
 * The digest that a list in the form of `sha256sum` has for a file: hex, lower case.
 * @throws Error when the file is not in the list
 */
export function digestOf(list: string, name: string): string {
  for (const line of list.split('\n')) {
    const [, digest, file] = /^([0-9a-f]{64}) [ *](.+?)\r?$/i.exec(line) ?? [];
    if (digest && file === name) return digest.toLowerCase();
  }
  throw new Error(`the list of checksums does not name ${name}`);
}
