/**
 * Removes debugging information and symbol tables from ELF programs of any processor, in place: `node strip-elf.ts FILE…`.
 * The builds of images use it because the builder's `strip` only handles programs of its own processor.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const MAGIC = Buffer.from('\x7fELF');
/** Class and byte order of all supported processors: 64 bits, little endian. */
const CLASS_AND_ORDER = Buffer.from([2, 1]);
/** Offsets in the header of the file, and in a program header (elf(5)). */
const E_PHOFF = 0x20;
const E_SHOFF = 0x28;
const E_PHENTSIZE = 0x36;
const E_PHNUM = 0x38;
const E_SHNUM = 0x3c;
const E_SHSTRNDX = 0x3e;
const P_OFFSET = 0x08;
const P_FILESZ = 0x20;

/**
 * The program up to the end of its last segment. Kernel and dynamic linker read segments alone; sections behind the last one
 * serve debuggers.
 * @throws Error when it is no 64-bit little-endian ELF file
 */
export function stripElf(file: Buffer): Buffer {
  if (!file.subarray(0, 4).equals(MAGIC) || !file.subarray(4, 6).equals(CLASS_AND_ORDER))
    throw new Error('Not a 64-bit little-endian ELF file');
  const headers = Number(file.readBigUInt64LE(E_PHOFF));
  const [size, count] = [file.readUInt16LE(E_PHENTSIZE), file.readUInt16LE(E_PHNUM)];
  const ends = Array.from({ length: count }, (_, index) => {
    const header = headers + index * size;
    return Number(file.readBigUInt64LE(header + P_OFFSET) + file.readBigUInt64LE(header + P_FILESZ));
  });
  const stripped = Buffer.from(file.subarray(0, Math.max(headers + count * size, ...ends)));
  stripped.writeBigUInt64LE(0n, E_SHOFF);
  stripped.writeUInt16LE(0, E_SHNUM);
  stripped.writeUInt16LE(0, E_SHSTRNDX);
  return stripped;
}

// Writing into the existing file keeps its mode.
if (import.meta.main) for (const path of process.argv.slice(2)) writeFileSync(path, stripElf(readFileSync(path)));
