/** How a vector lies in the database: pgvector's type where the server has it, little-endian floats where it has not. */

/**
 * The column's type. `bytea`: this process computes similarities; otherwise the database does. The schema of `vector` is
 * part of the name where it is not on the search path, as in Supabase's `extensions.vector`.
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

/** As pgvector reads it. */
export function toLiteral(vector: Float32Array): string {
  return `[${vector.join(',')}]`;
}
