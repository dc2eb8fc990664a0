// The end of a text that grows without end.

/** Keeps the newest characters of what is added. */
export class Tail {
  /** Whether something was let go. */
  cut = false;
  private chunks: string[] = [];
  private length = 0;
  private first = 0; // chunks before it are let go

  constructor(private readonly limit: number) {}

  add(chunk: string): void {
    const kept = chunk.length > this.limit ? chunk.slice(-this.limit) : chunk;
    this.cut ||= kept.length < chunk.length;
    this.chunks.push(kept);
    this.length += kept.length;
    while (this.length > this.limit) {
      this.length -= this.chunks[this.first]!.length;
      this.chunks[this.first++] = '';
      this.cut = true;
    }
    if (this.first > 1024 && this.first > this.chunks.length / 2) {
      this.chunks = this.chunks.slice(this.first);
      this.first = 0;
    }
  }

  /** What is kept, from the start of a line if its beginning is gone. */
  text(): string {
    const text = this.chunks.slice(this.first).join('');
    return this.cut ? text.slice(text.indexOf('\n') + 1) : text;
  }
}
