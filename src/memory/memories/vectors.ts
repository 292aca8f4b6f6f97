/** The form of vectors in the database: pgvector's type if the server has it, or else little-endian floats. */

/**
 * The type of the column. With `bytea`, this process computes similarities; otherwise the database does. If the schema of
 * `vector` is not on the search path, the name contains it, as in Supabase's `extensions.vector`.
 */
export type VectorColumn = 'vector' | `${string}.vector` | 'bytea';

export function toBytes(vector: Float32Array): Buffer {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (let index = 0; index < vector.length; index += 1) bytes.writeFloatLE(vector[index] ?? 0, index * 4);
  return bytes;
}

export function fromBytes(bytes: Buffer): Float32Array {
  const vector = new Float32Array(bytes.length / 4);
  for (let index = 0; index < vector.length; index += 1) vector[index] = bytes.readFloatLE(index * 4);
  return vector;
}

/** Formats a vector for pgvector. */
export function toLiteral(vector: Float32Array): string {
  return `[${vector.join(',')}]`;
}
